import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import autocannon from 'autocannon'

/**
 * Clients that ask again as soon as they have an answer, for `seconds`. Gives the number of requests, seconds, latencies in milliseconds, and how many failed. wrk takes a tenth of the
 * processor time of autocannon for a request, which serves where there is no wrk.
 */
export function closedLoop(url, request, load) {
  return hasWrk ? byWrk(url, request, load) : byAutocannon(url, request, load)
}

const hasWrk = runs('wrk')

export const generator = hasWrk ? 'wrk' : 'autocannon'

function runs(program) {
  try {
    execFileSync(program, ['-v'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // it prints its version and a status of 1
    return error.code !== 'ENOENT'
  }
}

async function byWrk(url, { headers, body }, { connections, seconds }) {
  const folder = mkdtempSync(join(tmpdir(), 'ptlite-bench-'))
  const [head, content] = [join(folder, 'headers'), join(folder, 'body')]
  try {
    writeFileSync(
      head,
      Object.entries(headers)
        .map((pair) => `${pair.join(': ')}\n`)
        .join(''),
    )
    writeFileSync(content, body)
    const script = fileURLToPath(new URL('wrk.lua', import.meta.url))
    const args = ['-t1', `-c${connections}`, `-d${Math.ceil(seconds)}s`, '--timeout', '30s', '-s', script, url, '--', head, content]
    const { stdout } = await promisify(execFile)('wrk', args)
    const found = JSON.parse(/^\{.*\}$/m.exec(stdout)[0])
    return { requests: found.requests, seconds: found.us / 1e6, p50: found.p50 / 1000, p99: found.p99 / 1000, failed: found.failed }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function byAutocannon(url, { headers, body }, { connections, seconds }) {
  const { requests, duration, latency, non2xx, errors } = await autocannon({
    url,
    method: 'POST',
    headers,
    body,
    connections,
    duration: seconds,
    timeout: 30,
  })
  return { requests: requests.total, seconds: duration, p50: latency.p50, p99: latency.p99, failed: non2xx + errors }
}
