# One image for the API and for workers; the command decides which.
FROM node:20-slim AS build
WORKDIR /app
COPY . .
# Installs everything and builds; then only what runs stays.
RUN npm ci && npm prune --omit=dev --ignore-scripts

FROM node:20-slim
ENV NODE_ENV=production DEER_FLOW_HOME=/data
WORKDIR /app
COPY --from=build /app /app
# A new volume takes over the owner of the folder that it is mounted on.
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
CMD ["node", "dist/workers/stack/start-worker.js"]
