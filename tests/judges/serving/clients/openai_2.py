# /// script
# dependencies = ["openai>=2,<3"]
# ///
from openai_scenarios import run_all

run_all()
