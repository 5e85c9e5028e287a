#!/usr/bin/env python3
"""here.py NODE CA PORTS   reads an operator's objects as JSON, one after another, and writes a List of them for an operator that runs on the node.

NODE is the node's address, CA a file with the PEM certificate that signed the operator's, PORTS `SERVICE=PORT,...`. A Deployment
and an aggregated API are left out, a Service that PORTS names leads to the port of the node, and each webhook trusts CA.
"""
import base64
import json
import sys


def moved(item, node, bundle, ports):
    """The objects that stand for `item`."""
    kind, name = item["kind"], item["metadata"]["name"]
    # An aggregated API without a server would keep every namespace from being deleted.
    if kind in ("Deployment", "APIService"):
        return []
    if kind.endswith("WebhookConfiguration"):
        for webhook in item["webhooks"]:
            webhook["clientConfig"]["caBundle"] = bundle
    if kind == "CustomResourceDefinition":
        conversion = item["spec"].get("conversion", {})
        if "webhook" in conversion:
            conversion["webhook"]["clientConfig"]["caBundle"] = bundle
    if kind != "Service" or name not in ports:
        return [item]
    item["spec"].pop("selector", None)
    port = {"port": ports[name], "protocol": "TCP"}
    if "name" in item["spec"]["ports"][0]:
        port["name"] = item["spec"]["ports"][0]["name"]
    labels = {"kubernetes.io/service-name": name}
    slice_ = {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": name, "namespace": item["metadata"]["namespace"], "labels": labels},
        "addressType": "IPv4",
        "ports": [port],
        "endpoints": [{"addresses": [node]}],
    }
    return [item, slice_]


def objects(text):
    """The JSON values of a text."""
    decoder = json.JSONDecoder()
    text = text.lstrip()
    while text:
        found, end = decoder.raw_decode(text)
        yield found
        text = text[end:].lstrip()


def main():
    node, authority, ports = sys.argv[1:]
    ports = {name: int(port) for name, port in (pair.split("=") for pair in ports.split(","))}
    with open(authority, "rb") as file:
        bundle = base64.b64encode(file.read()).decode()
    items = [one for item in objects(sys.stdin.read()) for one in moved(item, node, bundle, ports)]
    json.dump({"apiVersion": "v1", "kind": "List", "items": items}, sys.stdout)


if __name__ == "__main__":
    main()
