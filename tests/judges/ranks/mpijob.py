#!/usr/bin/env python3
"""Validates deploy/kubernetes/train.yaml as an API server does: against the schema of the MPI operator's CRD.

    mpijob.py [kubeflow.org_mpijobs.yaml]

Without the file, it is fetched. A field that the schema does not know is an error, as with kubectl's strict
validation. Needs PyYAML and jsonschema.
"""
import copy
import pathlib
import sys
import urllib.request

import jsonschema
import yaml

JOB = pathlib.Path(__file__).resolve().parents[3] / "deploy" / "kubernetes" / "train.yaml"
CRD = "https://raw.githubusercontent.com/kubeflow/mpi-operator/master/manifests/base/kubeflow.org_mpijobs.yaml"


def strict(schema):
    """A copy that allows only the properties that it names."""
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: strict(value) for key, value in schema.items()}
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields"):
        result.setdefault("additionalProperties", False)
    return result


def problems(schema, job):
    validator = jsonschema.Draft202012Validator(schema)
    return [f"{'.'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(job)]


def main():
    text = pathlib.Path(sys.argv[1]).read_text() if len(sys.argv) > 1 else urllib.request.urlopen(CRD).read()
    versions = {v["name"]: v["schema"]["openAPIV3Schema"] for v in yaml.safe_load(text)["spec"]["versions"]}
    job = next(part for part in yaml.safe_load_all(JOB.read_text()) if part["kind"] == "MPIJob")
    schema = strict(versions[job["apiVersion"].split("/")[1]])
    schema["properties"]["metadata"] = {"type": "object"}
    found = problems(schema, job)
    for problem in found:
        print(problem)
    # The judge itself can fail: a misspelt field, and a wrong type deep in a pod's template.
    for path, value in ((("spec", "slotPerWorker"), 1),
                        (("spec", "mpiReplicaSpecs", "Worker", "template", "spec", "containers", 0, "command"), "sshd")):
        broken = copy.deepcopy(job)
        place = broken
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert problems(schema, broken), path
    print(f"{JOB.name}: {len(found)} problems")
    return bool(found)


sys.exit(main())
