"""One model reply, through a library: the request, its retries, the scripted model, and the loop they run on.

May not: touch the database, know engine, tools or drivers. Nothing of pydantic_ai is imported when these modules are
(it takes seconds): the web process may import them, and only a worker that asks a model pays.
"""
