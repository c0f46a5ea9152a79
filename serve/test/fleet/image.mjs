/**
 * Runs what the image holds, and nothing else, as a container runtime would: in a root of its own that is read-only, as the image's user, with no other
 * program to be found. Tries the rules of the protocol and the health check on it. Needs root on Linux, and the built clone:
 *   node serve/test/fleet/image.mjs
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LIMIT, stage, weigh } from '../../deploy/image-size.mjs'
import { tryRules } from '../conformance/suite.mjs'

const PORT = 18080
const models = join(import.meta.dirname, '../conformance/fixtures/repository')
const folder = mkdtempSync(join(tmpdir(), 'ptlite-image-'))
const root = join(folder, 'rootfs')

/** What runtimes mount: devices, processes, a volume with models, and /tmp. All that is done in a mount namespace, which goes with the process. */
const START = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
mount --rbind /dev "$1/dev"
mount -t proc proc "$1/proc"
mount --bind -o ro "$2" "$1/models"
mount -t tmpfs -o size=16m tmpfs "$1/tmp"
mount -o remount,ro,bind "$1"
cd "$1"
exec env -i NODE_ENV=production PTLITE_CODE_CACHE=0 "$(command -v chroot)" --userspec=65532:65532 "$1" /usr/bin/node /app/dist/main.js \\
  /models --host 127.0.0.1 --port ${PORT} --grpc-port ${PORT + 1} --log-level warn`

function check(what, isSo) {
  console.log(`${isSo ? 'ok    ' : 'not ok'} ${what}`)
  if (!isSo) process.exitCode = 1
}

async function until(test, ms) {
  for (const end = Date.now() + ms; Date.now() < end;) {
    if (await test()) return true
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  return false
}

const get = (path) =>
  fetch(`http://127.0.0.1:${PORT}/v2/${path}`).then(
    ({ ok }) => ok,
    () => false,
  )

if (process.getuid() !== 0) {
  console.error('it needs root, for a root of its own')
  process.exit(2)
}
let child
try {
  stage(root)
  const { bytes } = weigh(root)
  check(`the image has ${(bytes / 1e6).toFixed(1)} MB, and may have ${LIMIT / 1e6}`, bytes <= LIMIT)
  check('there is no shell in it', !['bin/sh', 'usr/bin/sh', 'bin/bash', 'usr/bin/env'].some((path) => existsSync(join(root, path))))
  for (const name of ['dev', 'proc']) mkdirSync(join(root, name), { recursive: true })
  child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'bash', '-c', START, 'bash', root, models], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  check('it becomes ready', await until(() => get('health/ready'), 30_000))

  const [server] = spawnSync('pgrep', ['-f', `main.js /models --host 127.0.0.1 --port ${PORT}`], { encoding: 'utf8' })
    .stdout.split('\n')
    .map(Number)
    .filter((pid) => spawnSync('cat', [`/proc/${pid}/comm`], { encoding: 'utf8' }).stdout.trim() === 'node')
  const within = (...args) =>
    spawnSync('nsenter', ['-t', String(server), '-m', '-p', 'chroot', '--userspec=65532:65532', root, '/usr/bin/node', ...args], {
      encoding: 'utf8',
    })
  check('the health check finds it live', within('/app/healthcheck.mjs', String(PORT)).status === 0)
  check('and no server where there is none', within('/app/healthcheck.mjs', String(PORT + 7)).status === 1)
  const write = within('-e', "require('node:fs').writeFileSync('/app/file', '')")
  check('its files cannot be written to', write.status !== 0 && /EROFS|EACCES/.test(write.stderr))
  const results = await tryRules(`http://127.0.0.1:${PORT}`, { model: 'echo', changes: true })
  const failed = results.filter(({ outcome }) => outcome === 'failed')
  check(`it keeps ${results.filter(({ outcome }) => outcome === 'passed').length} rules of the protocol`, failed.length === 0)
  for (const { rule, reason } of failed) console.log(`       ${rule.section}: ${rule.rule}: ${reason}`)
  process.kill(server, 'SIGTERM')
  check('it ends at SIGTERM', await until(() => child.exitCode !== null, 25_000))
} finally {
  child?.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
