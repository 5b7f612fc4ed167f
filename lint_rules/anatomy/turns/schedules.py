"""What happens where two runs meet on one history, told as the shortest order of steps that shows the harm."""

PARTED = "A stores its tool calls · B its question · A the results: the API refuses the history"
MIXED = "A stores its question · B its own · A its answer: each is answered in the middle of the other's turn"
LOST = "A reads · B adds · A writes back: what B added is lost"
TAKEN = "A adds · B adds · A takes the last message away: B's is lost"
STALE = "A loads · B loads · A stores its turn · B its own: B was answered without it"
KEPT = "A asks · B asks before A has its answer: B is refused, or answered without A's turn"
EMPTIED = "A asks · B empties the history · A's answer is stored in it, without its question"
