"""A chat on top of a library that gives back what a turn has added."""

from swarm import Agent, Swarm

client = Swarm()
agent = Agent(name="Guide", instructions="You help.")


def chat(read, show):
    messages = []
    while (text := read()) is not None:
        messages.append({"role": "user", "content": text})
        response = client.run(agent=agent, messages=messages)
        messages = response.messages  # expect: AGL606
        show(messages[-1]["content"])
