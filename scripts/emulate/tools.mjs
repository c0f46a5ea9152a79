import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, TARGETS } from '../targets.mjs'

/** The row of targets.json whose programs are run; `--target` of emulate.mjs says which. */
export function emulated(name = 'linux-arm64') {
  const rows = TARGETS.filter(({ emulator }) => emulator?.cpus !== undefined)
  const row = rows.find((target) => target.name === name)
  if (row === undefined) throw new Error(`nothing emulates '${name}'; expected ${rows.map((target) => target.name).join(' or ')}`)
  return row
}

const onPath = (names) => names.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0)

/** Where a Node for the target is put. */
const folderOf = ({ name }) => join(root, 'build/emulation', name)

/** What is there of what emulation takes; undefined each where it is missing. */
function found(target) {
  const { emulator, toolchain } = target
  const node = process.env.PTLITE_EMULATED_NODE ?? join(folderOf(target), 'package/bin/node')
  return {
    emulator: onPath(emulator.commands),
    root: existsSync(join(emulator.root, 'lib/libc.so.6')) ? emulator.root : undefined,
    compiler: onPath([toolchain.compiler]),
    node: existsSync(node) ? node : undefined,
  }
}

function fetchNode(target) {
  const folder = folderOf(target)
  mkdirSync(folder, { recursive: true })
  const packed = spawnSync('npm', ['pack', '--silent', target.emulator.node], { cwd: folder, encoding: 'utf8' })
  const file = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  if (packed.status !== 0 || file === undefined) return
  const aside = join(folder, 'new')
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside)
  if (spawnSync('tar', ['-xzf', join(folder, file), '-C', aside]).status === 0) renameSync(join(aside, 'package'), join(folder, 'package'))
  rmSync(aside, { recursive: true, force: true })
  rmSync(join(folder, file), { force: true })
}

/**
 * The tools of emulation, and what is missing of them in words. With `install`, gets the latter: from Debian's packages as root, and
 * Node from npm.
 */
export function tools(install, target = emulated()) {
  const { packages, node: nodePackage } = target.emulator
  let there = found(target)
  const { emulator, root: sysroot, compiler } = there
  if (install && (!emulator || !sysroot || !compiler) && process.getuid() === 0 && onPath(['apt-get'])) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    spawnSync(
      'flock',
      ['/var/lib/apt/lists', 'sh', '-c', `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages.join(' ')}`],
      { env },
    )
  }
  if (install && !there.node) fetchNode(target)
  there = found(target)
  const missing = [
    ...(there.emulator && there.root && there.compiler ? [] : [`sudo apt-get install ${packages.join(' ')}`]),
    ...(there.node ? [] : [`PTLITE_EMULATED_NODE, a Node for ${target.name} (npm pack ${nodePackage})`]),
  ]
  return { ...there, missing }
}
