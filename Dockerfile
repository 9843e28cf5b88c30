# The service in a container. From the folder of this file: docker build -t webhook .
# Another base with Node 20.19 or later, npm and glibc: --build-arg NODE_IMAGE=…
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /build
COPY .npmrc package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY CHANGELOG.md LICENSE README.md tsconfig.json ./
COPY scripts/build.mjs scripts/third-party.mjs scripts/
COPY deploy deploy
COPY docs docs
COPY examples examples
COPY src src
COPY wsdl wsdl
# The image has what the package has, with the versions of package-lock.json.
ARG COMMIT=unknown
RUN npm pack --pack-destination /tmp \
  && mkdir /app \
  && tar -xzf /tmp/asmx-webhook-*.tgz -C /app --strip-components=1 \
  && cp .npmrc package-lock.json /app \
  && npm ci --prefix /app --omit=dev --ignore-scripts \
  && mkdir -m 700 /data

FROM ${NODE_IMAGE}
# Attacks then leave less free memory with the process: docs/promises.md, 13.
ENV MALLOC_MMAP_THRESHOLD_=131072
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 EVENT_LOG=sqlite:/data/events.db
COPY --from=build /app /app
# 1000 is `node` in the official images.
COPY --from=build --chown=1000:1000 /data /data
USER 1000:1000
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=6s --start-period=5s CMD ["node", "/app/dist/main.js", "--ready"]
# Not through a shell or npm: signals reach the service itself.
CMD ["node", "--max-semi-space-size=16", "/app/dist/main.js"]
