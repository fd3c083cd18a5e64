# The relay's image: no optional dependencies, so neither the on-device model nor the embedded
# Postgres is in it. It needs DATABASE_URL (or DATABASE_URL_FILE).

# The compiler and some types are optional dependencies themselves: this stage has everything.
FROM node:24-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY stubs stubs
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run build

# What runs. better-sqlite3 belongs to the device's programs in the same package and comes compiled.
FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY stubs stubs
RUN npm ci --omit=dev --omit=optional --ignore-scripts

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/package.json ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY migrations migrations
USER node
EXPOSE 7470
# `relay health` asks 127.0.0.1 by number: localhost may resolve to ::1, where nothing listens.
HEALTHCHECK --interval=10s --timeout=6s --start-period=20s CMD ["node", "dist/cli.js", "relay", "health"]
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["relay", "start"]
