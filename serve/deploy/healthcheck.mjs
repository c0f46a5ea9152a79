/** Ends with 0 where the server in this container is live: node healthcheck.mjs [PORT] */
const port = process.argv[2] ?? 8080
const answer = await fetch(`http://127.0.0.1:${port}/v2/health/live`, { signal: AbortSignal.timeout(2000) }).catch(() => undefined)
process.exitCode = answer?.ok === true ? 0 : 1
