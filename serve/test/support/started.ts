import { spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Test } from 'tap'

/** The command as it was built. */
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
export const REPOSITORY = fileURLToPath(new URL('../conformance/fixtures/repository', import.meta.url))

export interface Started {
  readonly url: string
  /** Of gRPC. */
  readonly address: string
  /** Ends it at once. */
  readonly kill: () => void
}

/** A server in a process of its own that is ready, until the test is over. */
export async function started(t: Test, options: readonly string[] = [], repository = REPOSITORY): Promise<Started> {
  const [port, grpcPort] = [await freePort(), await freePort()]
  const args = [MAIN, repository, '--port', String(port), '--grpc-port', String(grpcPort), '--log-level', 'error', ...options]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  let isOver = false
  child.stderr.on('data', (part: Buffer) => (said += part.toString()))
  child.on('exit', () => (isOver = true))
  t.teardown(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  // machines that do much else at a time take long
  for (const end = Date.now() + 120_000; ;) {
    const isReady = await fetch(`${url}/v2/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return { url, address: `127.0.0.1:${grpcPort}`, kill: () => child.kill('SIGKILL') }
    if (isOver || Date.now() > end) throw new Error(`the server did not start: ${said}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
