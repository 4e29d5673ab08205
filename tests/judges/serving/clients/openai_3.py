# /// script
# dependencies = ["openai>=3,<4"]
# ///
from openai_scenarios import run_all

run_all()
