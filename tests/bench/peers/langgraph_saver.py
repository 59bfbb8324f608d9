"""LangGraph's SqliteSaver on a file: a graph of messages, a message an update of its state."""

from __future__ import annotations

import sqlite3
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import MessagesState, StateGraph

from tests.bench.peers.measuring import Texts, serve_texts

NODE = "said"
CONFIG: dict[str, Any] = {"configurable": {"thread_id": "bench"}}


def prepare(job: dict[str, Any]) -> Texts:
    """Returns the work: appending the texts to a state of as many messages as the job says."""
    texts: list[str] = job["texts"]
    connection = sqlite3.connect(f"{job['folder']}/langgraph.db", check_same_thread=False)
    builder = StateGraph(MessagesState)
    builder.add_node(NODE, lambda _state: {})
    builder.set_entry_point(NODE)
    graph = builder.compile(checkpointer=SqliteSaver(connection))

    def add(given: list[str]) -> None:
        graph.update_state(CONFIG, {"messages": [HumanMessage(text) for text in given]}, as_node=NODE)

    def append() -> list[str]:
        for text in texts:
            add([text])
        return texts

    add([texts[0]] * job["length"])
    append()
    stored = [message.content for message in graph.get_state(CONFIG).values["messages"]]
    if stored[-len(texts) :] != texts or len(stored) != job["length"] + len(texts):
        raise RuntimeError("the state does not hold what was added")
    return {"append": append}


if __name__ == "__main__":
    serve_texts(prepare)
