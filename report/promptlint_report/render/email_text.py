"""The headline as a mail: subject and plain text, ready for sendmail."""

from __future__ import annotations

from email.message import EmailMessage
from email.policy import SMTP

from promptlint_report.document import Report
from promptlint_report.render.headline import headline
from promptlint_report.render.numbers import LEGEND


def render(report: Report) -> str:
    """A message without sender and recipient: the mailer adds them."""
    head = headline(report)
    width = max((len(label) for label, _ in head.figures), default=0)
    lines = [head.summary, "", *(f"{label:<{width}}  {value}" for label, value in head.figures)]
    if head.faults:
        lines += ["", "What to change", *(f"- {line}" for line in head.faults)]
    if head.left_out:
        lines += ["", "Left out", *(f"- {line}" for line in head.left_out)]
    message = EmailMessage(policy=SMTP.clone(linesep="\n", cte_type="8bit", utf8=True))
    message["Subject"] = f"{head.title}: {head.summary}"[:180]
    message.set_content("\n".join([*lines, "", LEGEND]) + "\n", cte="8bit")
    return message.as_bytes().decode()
