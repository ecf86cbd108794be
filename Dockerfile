# For those who have a container engine; tools/images makes the same images without one.
#   docker build --target operator --tag trainyard-operator .
#   docker build --target extender --tag trainyard-extender .
#   docker build --target agent --tag trainyard-agent .
#   docker build --target launch --tag trainyard-launch .
#   docker build --target cli --tag trainyard-cli .
FROM debian:bookworm AS build
COPY tools/deps /src/tools/deps
RUN apt-get update && /src/tools/deps && apt-get install --yes --no-install-recommends binutils
COPY . /src
WORKDIR /src
RUN cmake --preset release && cmake --build --preset release --target trainyard-operator trainyard-extender trainyard-agent trainyard-launch trainyard
RUN python3 -c "import sys; from pathlib import Path; sys.path.insert(0, 'e2e'); \
from lib.programimage import plant; \
[plant(Path('build/release', name, 'trainyard-' + name), Path('/images', name)) for name in ('operator', 'extender', 'agent', 'launch')]; \
plant(Path('build/release/cli/trainyard'), Path('/images/cli'))"

FROM scratch AS operator
COPY --from=build /images/operator /
USER 65532:65532
ENTRYPOINT ["/usr/bin/trainyard-operator"]

FROM scratch AS extender
COPY --from=build /images/extender /
USER 65532:65532
ENTRYPOINT ["/usr/bin/trainyard-extender"]

# As root, and with NET_ADMIN alone: docs/network.md.
FROM scratch AS agent
COPY --from=build /images/agent /
ENTRYPOINT ["/usr/bin/trainyard-agent"]

FROM scratch AS launch
COPY --from=build /images/launch /
USER 65532:65532
ENTRYPOINT ["/usr/bin/trainyard-launch"]

FROM scratch AS cli
COPY --from=build /images/cli /
USER 65532:65532
ENTRYPOINT ["/usr/bin/trainyard"]
