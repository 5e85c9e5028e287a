# Two images: --target webhook (the default) and --target gate. Each holds one static program and nothing else. And the plugin of
# kubectl, as a file: --target plugin --output FOLDER.
#
# A builder is an argument so that a mirror, or an image made on the spot (tests/dockerfile-check), can take its place. It
# needs Rust, a C compiler and make, which the controller's allocator is built with. Both programs are linked with glibc:
# since 2.34 its name lookup works in a static program, so there is no need for musl.
ARG BUILDER=docker.io/library/rust:1.95-bookworm

FROM ${BUILDER} AS source
WORKDIR /src
COPY . .
# Relocations are packed, as in the Makefile; the builder's glibc has to be 2.36 or later, as that of bookworm is.
ENV RUSTFLAGS="-C target-feature=+crt-static -C link-arg=-Wl,-z,pack-relative-relocs"

# The target is named because without one the flag would reach build scripts and procedural macros too, which cannot be static.
FROM source AS build-gate
RUN target="$(uname -m)-unknown-linux-gnu" \
    && cargo build --locked --profile gate -p gate --target "$target" \
    && install -D "target/$target/gate/sluice-gate" /out/sluice-gate

FROM source AS build-webhook
RUN target="$(uname -m)-unknown-linux-gnu" \
    && cargo build --locked --release -p webhook --target "$target" \
    && install -D "target/$target/release/sluice-webhook" /out/sluice-webhook

FROM source AS build-plugin
RUN target="$(uname -m)-unknown-linux-gnu" \
    && cargo build --locked --release -p cli --target "$target" \
    && install -D "target/$target/release/kubectl-sluice" /out/kubectl-sluice

FROM scratch AS plugin
COPY --from=build-plugin /out/kubectl-sluice /kubectl-sluice

FROM scratch AS gate
LABEL org.opencontainers.image.title="sluice-gate" \
      org.opencontainers.image.description="The init container of sluice: waits until a pod's dependencies are healthy." \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build-gate /out/sluice-gate /sluice-gate
# A number, because the kubelet cannot tell from a name that it is not root.
USER 65532:65532
ENTRYPOINT ["/sluice-gate"]

FROM scratch AS webhook
LABEL org.opencontainers.image.title="sluice-webhook" \
      org.opencontainers.image.description="The controller of sluice: admission webhook and status service." \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build-webhook /out/sluice-webhook /sluice-webhook
USER 65532:65532
EXPOSE 10250 9764 8080
ENTRYPOINT ["/sluice-webhook"]
