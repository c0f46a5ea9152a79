// Where packages are tried: on this machine, and on others' systems and processors as far as this one can stand in for them.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tools as emulation } from '../emulate/tools.mjs'
import { PUBLISHED, root } from '../targets.mjs'

/** What is fetched stays here. */
const FOLDER = join(root, 'build/hosts')
/** The oldest Debian whose C library is younger than what the kernel library needs, and which Node still runs on. */
const OLD_DEBIAN = 'bullseye'
const DEBIAN_MIRROR = 'http://deb.debian.org/debian'

const isCommand = (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
const isRoot = () => process.getuid?.() === 0

function debianPackages(...names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  if (isRoot() && isCommand('apt-get'))
    spawnSync('sh', ['-c', `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${names.join(' ')}`], { env })
}

/** Unpacks a package of npm to `folder`, whole or not at all. */
function npmPackage(name, folder) {
  const aside = `${folder}.new`
  rmSync(aside, { recursive: true, force: true })
  mkdirSync(aside, { recursive: true })
  spawnSync('npm', ['pack', '--silent', name], { cwd: aside })
  const file = readdirSync(aside).find((entry) => entry.endsWith('.tgz'))
  if (file !== undefined && spawnSync('tar', ['-xzf', file], { cwd: aside }).status === 0) renameSync(join(aside, 'package'), folder)
  rmSync(aside, { recursive: true, force: true })
}

/**
 * This machine. Others have the same fields:
 *
 * how      how checks ran, for the table
 * platform, system, cpu    whose package is installed
 * missing  what it needs that is not here, in words, empty where nothing is; `install`: gets that first
 * command  the command that runs Node with arguments in a folder, and its environment
 * place    puts a folder where its Node finds it; the path of it there
 */
const native = {
  name: 'native',
  how: 'natively',
  platform: `${process.platform}-${process.arch}`,
  system: process.platform,
  cpu: process.arch,
  missing: () => [],
  command: (args) => [process.execPath, ...args],
  env: {},
  place: (folder) => folder,
}

/** What stands in for the host of a row of targets.json. */
const fieldsOf = ({ name, platform, arch, emulator }) => ({ name: emulator.host, platform: name, system: platform, cpu: arch })

const WINDOWS = join(FOLDER, 'windows')
const wine = (target) => ({
  ...fieldsOf(target),
  how: 'under Wine',
  missing(install) {
    const { packages, node: nodePackage } = target.emulator
    const node = join(WINDOWS, 'node/bin/node.exe')
    if (install && !isCommand('wine')) debianPackages(...packages)
    if (install && !existsSync(node)) npmPackage(nodePackage, join(WINDOWS, 'node'))
    const missing = [
      ...(isCommand('wine') ? [] : [`sudo apt-get install ${packages.join(' ')}`]),
      ...(existsSync(node) ? [] : [`Node for Windows (npm pack ${nodePackage})`]),
    ]
    // of a Windows that Node starts on
    if (missing.length === 0)
      spawnSync('wine', ['reg', 'add', String.raw`HKCU\Software\Wine`, '/v', 'Version', '/d', 'win10', '/f'], {
        env: { ...process.env, ...this.env },
      })
    return missing
  },
  command: (args) => ['wine', join(WINDOWS, 'node/bin/node.exe'), ...args],
  env: { WINEPREFIX: join(WINDOWS, 'prefix'), WINEDEBUG: '-all', WINEDLLOVERRIDES: 'mscoree,mshtml=' },
  // the drive Z: is this system's root
  place: (folder) => folder,
})

const qemu = (target) => ({
  ...fieldsOf(target),
  how: 'under QEMU',
  missing(install) {
    const { emulator, root: sysroot, node, missing } = emulation(install, target)
    this.command = (args) => [emulator, '-cpu', 'max', '-L', sysroot, node, ...args]
    return missing
  },
  env: {},
  place: (folder) => folder,
})

const DEBIAN = join(FOLDER, OLD_DEBIAN)
const oldDebian = {
  name: OLD_DEBIAN,
  how: 'in a root of Debian 11 (glibc 2.31)',
  platform: native.platform,
  system: 'linux',
  cpu: process.arch,
  missing(install) {
    if (!isRoot()) return ['the rights of root, for a root of another Debian']
    const made = join(FOLDER, `${OLD_DEBIAN}.made`)
    if (install && !existsSync(made)) {
      if (!isCommand('debootstrap')) debianPackages('debootstrap')
      rmSync(DEBIAN, { recursive: true, force: true })
      mkdirSync(FOLDER, { recursive: true })
      if (spawnSync('debootstrap', ['--variant=minbase', OLD_DEBIAN, DEBIAN, DEBIAN_MIRROR]).status === 0) writeFileSync(made, '')
    }
    if (!existsSync(made)) return [`debootstrap --variant=minbase ${OLD_DEBIAN} ${DEBIAN} ${DEBIAN_MIRROR}`]
    copyFileSync(process.execPath, join(DEBIAN, 'usr/bin/node'))
    return []
  },
  command: (args, folder) => ['chroot', DEBIAN, 'sh', '-c', `cd '${folder}' && exec node "$@"`, 'node', ...args],
  env: {},
  place(folder) {
    const there = '/srv/app'
    rmSync(join(DEBIAN, there), { recursive: true, force: true })
    cpSync(folder, join(DEBIAN, there), { recursive: true, verbatimSymlinks: true })
    return there
  },
}

const emulated = PUBLISHED.filter(({ emulator }) => emulator !== undefined)
export const HOSTS = [native, ...emulated.map((target) => (target.platform === 'win32' ? wine : qemu)(target)), oldDebian]
