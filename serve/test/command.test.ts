import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test as Tap } from 'tap'
import { fixture, repository } from './support/server.js'

const dist = fileURLToPath(new URL('../../dist', import.meta.url))
const cli = join(dist, 'cli.js')

/** `ptlite serve` with these arguments, once it listens. */
async function running(
  t: Tap,
  ...args: string[]
): Promise<{ url: string; logged: () => string; end: (signal: NodeJS.Signals) => Promise<number | null> }> {
  const child = spawn(process.execPath, [cli, 'serve', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  let logged = ''
  let said = ''
  child.stdout.on('data', (text: Buffer) => (logged += String(text)))
  child.stderr.on('data', (text: Buffer) => (said += String(text)))
  const exited = once(child, 'exit') as Promise<[number | null]>
  while (!said.includes('listening on'))
    await Promise.race([once(child.stderr, 'data'), exited.then(() => Promise.reject(new Error(said)))])
  return {
    url: /listening on (\S+)/.exec(said)![1]!,
    logged: () => logged,
    end: async (signal) => {
      child.kill(signal)
      return (await exited)[0]
    },
  }
}

function fails(...args: string[]): { status: number | null; stderr: string } {
  const { status, stderr } = spawnSync(process.execPath, [cli, 'serve', ...args], { encoding: 'utf8' })
  return { status, stderr }
}

t.test('the command serves until it is told to end', async (t) => {
  const folder = repository(t, { 'affine.ptl': fixture('affine.ptl') })
  const { url, logged, end } = await running(t, folder, '--port', '0', '--workers', '1')
  t.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
  while ((await fetch(`${url}/v2/health/ready`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal((await fetch(`${url}/v2/models/affine/ready`)).status, 200)
  t.equal(await end('SIGTERM'), 0)
  const lines = logged()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; model?: string })
  t.ok(lines.some(({ msg, model }) => msg === 'loaded' && model === 'affine'))
})

t.test('a folder may be one model; connections may be encrypted', async (t) => {
  const folder = repository(t, { '3/model.ptl': fixture('affine.ptl') })
  const keys = realpathSync(repository(t, {}))
  const made = spawnSync(
    'openssl',
    [
      ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost -keyout key.pem -out cert.pem'.split(
        ' ',
      ),
    ],
    { cwd: keys },
  )
  if (made.status !== 0) {
    t.comment('no openssl')
    return
  }
  writeFileSync(join(keys, 'tokens'), 'secret\n')
  const args = [
    '--port',
    '0',
    '--workers',
    '1',
    '--model-name',
    'net',
    '--tls-cert',
    join(keys, 'cert.pem'),
    '--tls-key',
    join(keys, 'key.pem'),
    '--token-file',
    join(keys, 'tokens'),
  ]
  const { url, end } = await running(t, folder, ...args)
  const ask = async (path: string, headers = {}): Promise<{ status: number; body: string }> => {
    const request = httpsRequest(`${url}${path}`, { rejectUnauthorized: false, headers }).end()
    const [answer] = (await once(request, 'response')) as [NodeJS.ReadableStream & { statusCode: number }]
    let body = ''
    for await (const part of answer) body += String(part)
    return { status: answer.statusCode, body }
  }
  while ((await ask('/v2/health/ready')).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal((await ask('/v2/models/net')).status, 401)
  t.match(JSON.parse((await ask('/v2/models/net', { Authorization: 'Bearer secret' })).body) as object, { name: 'net', versions: ['3'] })
  t.equal(await end('SIGINT'), 0)
})

t.test('command lines that make no sense', (t) => {
  const folder = repository(t, {})
  t.match(fails(), { status: 2, stderr: /name a folder of models/ })
  t.match(fails(folder, '--port', 'x'), { status: 2, stderr: /--port: expected a number, found 'x'/ })
  t.match(fails(folder, '--port', '70000'), { status: 2, stderr: /port: expected a port/ })
  t.match(fails(folder, '--tls-cert', 'x'), { status: 2, stderr: /go together/ })
  t.match(fails(folder, '--log-level', 'loud'), { status: 2, stderr: /--log-level/ })
  t.match(fails(folder, '--nothing'), { status: 2, stderr: /--nothing/ })
  t.match(fails(join(folder, 'none')), { status: 1, stderr: /^ptlite: there is no folder '.*none'\n$/ })
  t.match(fails(folder, '--prot', '1'), { status: 2, stderr: /Unknown option '--prot'\n/ })
  t.end()
})

t.test('without the package the command says how to install it', (t) => {
  const folder = realpathSync(repository(t, {}))
  mkdirSync(join(folder, 'dist'))
  for (const name of readdirSync(dist)) if (/\.(?:cjs|so)$|^cli\.js$/.test(name)) cpSync(join(dist, name), join(folder, 'dist', name))
  const { status, stderr } = spawnSync(process.execPath, [join(folder, 'dist/cli.js'), 'serve', '.'], { cwd: folder, encoding: 'utf8' })
  t.equal(status, 1)
  t.equal(stderr, 'ptlite: serve needs the package @ptlite/serve; install it beside ptlite: npm install @ptlite/serve\n')
  t.end()
})
