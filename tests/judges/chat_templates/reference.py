"""jinja2 as transformers configures it for chat templates, and heed's answer beside it."""

import json
import subprocess

from jinja2.exceptions import TemplateError
from transformers.utils import chat_template_utils


def render_reference(template, context):
    """("output", text), or ("error", message) for whatever Python raises."""
    try:
        compiled = chat_template_utils._compile_jinja_template(template)
        return "output", compiled.render(**context)
    except RecursionError as error:
        return "error", f"RecursionError: {error}"
    except (TemplateError, Exception) as error:  # noqa: BLE001: templates raise anything
        return "error", f"{type(error).__name__}: {error}"


class Heed:
    """The program render_chat_template."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, encoding="utf-8")

    def render(self, template, context):
        """The same for heed. Dies with the program, which nothing may crash."""
        task = json.dumps({"template": template, "context": context}, ensure_ascii=True)
        self.process.stdin.write(task + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"heed crashed on:\n{task}")
        (kind, text), = json.loads(line).items()
        return kind, text
