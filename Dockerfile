# docker build -t specroute . && docker run --rm -v "$PWD:/data" specroute diagnose /data/file.csv --target class
FROM debian:12-slim AS build
WORKDIR /source
COPY . .
RUN scripts/install.sh run && cmake --preset run >/dev/null && cmake --build --preset run -j "$(nproc)" \
    && (cd build/run && cpack -G DEB -B /packages >/dev/null)

FROM debian:12-slim
COPY --from=build /packages/*.deb /tmp/
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["specroute"]
