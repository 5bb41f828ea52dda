#!/usr/bin/env python3
"""Checks manifests without a cluster: against the schemas of Kubernetes, and against each other.

usage: check.py [PATH...]      files, and folders of files; with the Python of: bench/peers.sh kubernetes

A manifest may name only what another one makes, the memory of each JVM must fit its container and Flink's configuration,
the configuration must have the settings of scripts/flink, and a Job of steps must fit its submitter. Exit status: 0 right, 1 faults, which are printed.
"""

import pathlib
import re
import sys

import kubernetes_validate
import yaml

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "1.33"
INDEX = "JOB_COMPLETION_INDEX"  # which Kubernetes sets in the pods of an Indexed Job
UNITS = {"m": 1 << 20, "Mi": 1 << 20, "Gi": 1 << 30, "GiB": 1 << 30}
# Settings whose values in scripts/flink are for one machine: addresses, sizes, folders, and how long a job that must fail takes.
OWN = re.compile(r"(.*address|.*-host|taskmanager\.host|.*port|.*Slots|.*cores|taskmanager\.memory\..*|restart-strategy\.fixed-delay\.delay|io\.tmp\.dirs)")


def size(text):
    number, unit = re.fullmatch(r"(\d+)([a-zA-Z]+)", text).groups()
    return int(number) * UNITS[unit]


def schema(name, d):
    """The faults of a manifest by its schema."""
    try:
        kubernetes_validate.validate(d, VERSION, strict=True)
    except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError, KeyError) as e:
        yield f"{name}: {getattr(e, 'message', None) or repr(e)}"


def pod_of(d):
    return d["spec"]["template"] if d["kind"] in ("Deployment", "Job") else None


def references(name, d, all_of):
    """The names in a manifest that no manifest has, and labels that do not agree."""
    if d["metadata"].get("labels", {}).get("app") != "graphmill":
        yield f"{name}: found no label app: graphmill on {d['kind']} {d['metadata']['name']}, expected it"
    pods = [pod_of(x) for x in all_of if pod_of(x)]
    if d["kind"] == "Service":
        of = [p for p in pods if d["spec"]["selector"].items() <= p["metadata"]["labels"].items()]
        if len(of) != 1:
            yield f"{name}: found {len(of)} pods by the selector of Service {d['metadata']['name']}, expected 1"
        for port in d["spec"]["ports"]:
            found = [p["containerPort"] for pod in of for c in pod["spec"]["containers"] for p in c["ports"] if p["name"] == port["targetPort"]]
            if found != [port["port"]]:
                yield f"{name}: found port {port['port']} of Service {d['metadata']['name']} at {found}, expected the same port of a container"
    pod = pod_of(d)
    if not pod:
        return
    if d["kind"] == "Deployment" and d["spec"]["selector"]["matchLabels"] != pod["metadata"]["labels"]:
        yield f"{name}: found a selector that differs from the labels of the pods of {d['metadata']['name']}"
    volumes = {v["name"]: v for v in pod["spec"].get("volumes", [])}
    for v in volumes.values():
        for kind, made in (("ConfigMap", v.get("configMap", {}).get("name")), ("PersistentVolumeClaim", v.get("persistentVolumeClaim", {}).get("claimName"))):
            if made and not any(x["kind"] == kind and x["metadata"]["name"] == made for x in all_of):
                yield f"{name}: found no {kind} {made}, expected one"
    services = {x["metadata"]["name"]: [p["port"] for p in x["spec"]["ports"]] for x in all_of if x["kind"] == "Service"}
    for c in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
        if missing := {m["name"] for m in c["volumeMounts"]} - volumes.keys():
            yield f"{name}: found no volumes {sorted(missing)} for container {c['name']}, expected them"
        for host, port in re.findall(r"\b(flink-[a-z]+):(\d+)", " ".join(c["args"])):
            if int(port) not in services.get(host, []):
                yield f"{name}: found address {host}:{port} of container {c['name']}, expected a port of a Service"
        for variable in re.findall(r"\$\((\w+)\)", " ".join(c["args"])):
            if variable not in {e["name"] for e in c.get("env", [])} | ({INDEX} if d["spec"].get("completionMode") == "Indexed" else set()):
                yield f"{name}: found no variable {variable} for container {c['name']}, expected it"
        workers = dict(zip(c["args"], c["args"][1:])).get("--workers")
        if workers and not any(workers in x.get("args", []) for p in pods for x in p["spec"].get("initContainers", [])):
            yield f"{name}: found no worker service that listens on {workers}, expected one in the pod of a TaskManager"


def steps(name, d, all_of):
    """The numbers and folders in which a Job of steps differs from its submitter."""
    for args in [c["args"] for c in (pod_of(d) or {"spec": {"containers": []}})["spec"]["containers"] if c["args"][0] == "step"]:
        n = d["spec"].get("completions")
        if args[args.index("--index") + 1] != f"$({INDEX})/{n}" or d["spec"].get("completionMode") != "Indexed":
            yield f"{name}: found --index {args[args.index('--index') + 1]}, expected $({INDEX})/{n} in an Indexed Job of {n} completions"
        submitters = [c["args"] for x in all_of if pod_of(x) for c in pod_of(x)["spec"]["containers"] if "steps" in c["args"]]
        for s in submitters:
            if s[s.index("--parallelism") + 1] != str(n):
                yield f"{name}: found {n} completions, expected {s[s.index('--parallelism') + 1]}, the --parallelism of the submitter"
            out = pathlib.PurePosixPath(s[s.index("--out") + 1])
            if args[1] != str(out.parent / f".{out.name}.work"):
                yield f"{name}: found work folder {args[1]}, expected the work folder of {out}"
        if not submitters:
            yield f"{name}: found no submitter with --runner steps, expected one"


def flag(container, prefix):
    return size(next(a.removeprefix(prefix) for a in container["args"] if a.startswith(prefix)))


def memory(name, d, conf):
    """The JVM flags and the limits that do not agree with Flink's configuration."""
    pod = pod_of(d)
    for c in (pod or {"spec": {"containers": []}})["spec"]["containers"]:
        limit = size(c["resources"]["limits"]["memory"])
        if any(a.startswith("-Xmx") for a in c["args"]) and flag(c, "-Xmx") > limit * 3 // 4:
            yield f"{name}: found -Xmx above three quarters of the memory of container {c['name']}"
        if c["name"] != "taskmanager":
            continue
        m = lambda key: size(conf[f"taskmanager.memory.{key}"])
        heap = m("framework.heap.size") + m("task.heap.size")
        direct = m("framework.off-heap.size") + m("task.off-heap.size") + m("network.max")
        rest = m("managed.size") + m("jvm-metaspace.size") + m("jvm-overhead.max")
        for what, found, expected in (
            ("-Xmx", flag(c, "-Xmx"), heap),
            ("-XX:MaxDirectMemorySize", flag(c, "-XX:MaxDirectMemorySize="), direct),
            ("-XX:MaxMetaspaceSize", flag(c, "-XX:MaxMetaspaceSize="), m("jvm-metaspace.size")),
        ):
            if found != expected:
                yield f"{name}: found {what} of {found >> 20} MiB, expected {expected >> 20} MiB by the configuration of Flink"
        if heap + direct + rest > limit:
            yield f"{name}: found {heap + direct + rest >> 20} MiB in the configuration of Flink, expected at most the {limit >> 20} MiB of the container"


def settings(conf):
    """The settings that scripts/flink has and the configuration lacks or has otherwise."""
    script = (HERE.parent.parent.parent / "scripts/flink").read_text()
    for key, value in re.findall(r"^([a-z][\w.-]+): (.+)$", script, re.MULTILINE):
        if (key not in conf and not OWN.fullmatch(key)) or (key in conf and not OWN.fullmatch(key) and conf[key] != value):
            yield f"config.yaml: found {key}: {conf.get(key)}, expected {value}, that of scripts/flink"


def main(paths):
    names = [f for p in paths for f in (sorted(p.glob("*.yaml")) if p.is_dir() else [p])]
    files = {p.name: [d for d in yaml.safe_load_all(p.read_text()) if d] for p in names}
    all_of = [d for some in files.values() for d in some]
    faults = [f for name, some in files.items() for d in some for f in schema(name, d)]
    if not faults:
        texts = [d["data"]["flink-conf.yaml"] for d in all_of if d["kind"] == "ConfigMap"]
        conf = dict(line.split(": ", 1) for text in texts for line in text.splitlines())
        faults = list(settings(conf)) if texts else []
        for name, some in files.items():
            for d in some:
                faults += [*references(name, d, all_of), *memory(name, d, conf), *steps(name, d, all_of)]
    if not all_of:
        faults = [f"{paths[0]}: found no manifest, expected some"]
    print("\n".join(faults) or f"{len(all_of)} manifests, Kubernetes {VERSION}: no fault")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main([pathlib.Path(p) for p in sys.argv[1:]] or [HERE]))
