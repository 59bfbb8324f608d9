"""LangChain's SQLChatMessageHistory on a SQLite file, a message an append."""

from __future__ import annotations

from typing import Any

from langchain_community.chat_message_histories import SQLChatMessageHistory
from langchain_core.messages import HumanMessage
from sqlalchemy import create_engine

from tests.bench.peers.measuring import Texts, serve_texts


def prepare(job: dict[str, Any]) -> Texts:
    """Returns the work: appending the texts to a history of as many messages as the job says."""
    texts: list[str] = job["texts"]
    engine = create_engine(f"sqlite:///{job['folder']}/langchain.db")
    history = SQLChatMessageHistory("bench", connection=engine)
    history.add_messages([HumanMessage(texts[0])] * job["length"])

    def append() -> list[str]:
        for text in texts:
            history.add_message(HumanMessage(text))
        return texts

    append()
    stored = [str(message.content) for message in history.messages]
    if stored[-len(texts) :] != texts or len(stored) != job["length"] + len(texts):
        raise RuntimeError("the history does not hold what was added")
    return {"append": append}


if __name__ == "__main__":
    serve_texts(prepare)
