"""The demo workspace's agents, made on the first start: each shows one thing with the scripted model, offline."""

from collections.abc import Callable
from typing import Any

from sessions.models import Agent
from sessions.operations.agents import create_agent
from workspaces.actors import SYSTEM
from workspaces.models import Workspace
from workspaces.operations import DEMO_SLUG

FILENAMES: dict[str, Any] = {
    "model": "scripted:demo",
    "system_prompt": "You help with files. When a choice is a matter of taste, you ask.",
    "tools": ["system", "workspace"],
    "script": [
        {
            "say": "I'll look at what is there before I choose.",
            "calls": [{"tool": "workspace__list_files", "arguments": {"path": ""}}],
        },
        {
            "say": "Both names would do, so this is a matter of taste.",
            "calls": [
                {
                    "tool": "system__ask_user",
                    "arguments": {
                        "prompt": "Which file name do you prefer?",
                        "response_schema": {
                            "type": "object",
                            "properties": {
                                "name": {
                                    "type": "string",
                                    "enum": ["report-july.md", "2026-07-report.md"],
                                    "title": "File name",
                                }
                            },
                            "required": ["name"],
                        },
                    },
                }
            ],
        },
        {
            "calls": [
                {
                    "tool": "workspace__write_file",
                    "arguments": {"path": "reports/chosen.txt", "content": "You chose: {{ result }}\n"},
                }
            ]
        },
        {"say": "Done: I wrote your choice into reports/chosen.txt."},
    ],
}

PLANNER: dict[str, Any] = {
    "model": "scripted:demo",
    "system_prompt": "You plan a release and ask about what you cannot know.",
    "tools": ["system"],
    "suspension": {"may_ask_questions": True},
    "script": [
        {
            "say": "Two things I can't know myself.",
            "calls": [
                {
                    "tool": "system__ask_question",
                    "arguments": {
                        "questions": [
                            {
                                "question": "When should the release go out?",
                                "header": "When",
                                "options": [
                                    {"label": "Tonight", "description": "Few people are online"},
                                    {"label": "Tomorrow morning", "description": "Everybody is there to help"},
                                ],
                            },
                            {
                                "question": "Who should be told beforehand?",
                                "header": "Who",
                                "multi_select": True,
                                "options": [
                                    {"label": "Support", "description": "They answer the first questions"},
                                    {"label": "Customers", "description": "A line on the status page"},
                                ],
                            },
                        ]
                    },
                }
            ],
        },
        {"say": "Thank you. This is what I plan by: {{ result }}"},
    ],
}

AGENTS = {
    "file-chooser": ("File chooser", FILENAMES),
    "release-planner": ("Release planner", PLANNER),
}


def first_run(write: Callable[[str], Any], no_demo: bool) -> None:
    """Make the demo agents; nothing if there is no demo workspace or it has agents."""
    workspace = Workspace.objects.filter(slug=DEMO_SLUG).first()
    if no_demo or workspace is None or Agent.objects.filter(workspace=workspace).exists():
        return
    for slug, (name, definition) in AGENTS.items():
        create_agent(SYSTEM, workspace, slug, name, definition)
    write(f"demo agents: {', '.join(AGENTS)}")
