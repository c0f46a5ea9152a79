#!/usr/bin/env node
/* dist/selective-build.js: goes on with dist/build-selected.js, which stands beside it in a clone and is in a package of its own elsewhere. */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { PtliteError } from '../../runtime/error.js'
import { execute } from './execute.js'
import { SELECTIVE_BUILD } from './selective-build-usage.js'
import { endWithStreams } from './streams.js'

const PACKAGE = '@ptlite/selective-build'
const PROGRAM = 'dist/build-selected.js'
const args = process.argv.slice(2)

await launch()

/** Anything but the program itself is said here: the command's help, and why the program does not start. */
async function launch(): Promise<void> {
  if (args.some((arg) => arg === '--help' || arg === '-h')) return say()
  try {
    await import(pathToFileURL(programOf()).href)
  } catch (cause) {
    if (cause instanceof PtliteError) return say(cause)
    const { code, message } = cause as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const advice = `${message}; it is installed with the sources of ptlite: run 'npm install' again where they are`
    return say(new PtliteError('INVALID_ARGUMENT', advice, { cause }))
  }
}

async function say(error?: PtliteError): Promise<void> {
  endWithStreams('selective-build')
  const run = (): void => {
    throw error!
  }
  process.exitCode = await execute({ ...SELECTIVE_BUILD, run }, args, '')
}

/** Throws INVALID_ARGUMENT that says what to install. */
function programOf(): string {
  const { sources } = parseArgs({ args, options: { sources: { type: 'string' } }, strict: false }).values
  if (typeof sources === 'string') return there(join(sources, PROGRAM), `run ./setup.sh in ${sources}, a clone of ptlite`)
  const here = fileURLToPath(import.meta.url)
  const root = join(here, '../..')
  const beside = join(root, PROGRAM)
  if (existsSync(beside)) return beside
  const wanted = versionIn(join(root, 'package.json'))
  const advice = `'npm install --save-dev ${PACKAGE}@${wanted}'`
  const manifest = [join(process.cwd(), 'package.json'), here].map(manifestFrom).find((path) => path !== undefined)
  if (manifest === undefined)
    throw new PtliteError(
      'INVALID_ARGUMENT',
      `selective builds compile the sources of ptlite, which are in a package of their own: ${advice}, or name a clone of ptlite with --sources`,
    )
  const found = versionIn(manifest)
  if (found !== wanted) throw new PtliteError('INVALID_ARGUMENT', `${PACKAGE} has version ${found}, and ptlite ${wanted}: ${advice}`)
  return there(join(dirname(manifest), PROGRAM), advice)
}

function there(path: string, advice: string): string {
  if (!existsSync(path)) throw new PtliteError('INVALID_ARGUMENT', `${path} is missing: ${advice}`)
  return path
}

/** Of the package, as a file in some folder would find it. */
function manifestFrom(file: string): string | undefined {
  try {
    return createRequire(file).resolve(`${PACKAGE}/package.json`)
  } catch {
    return undefined
  }
}

function versionIn(manifest: string): string {
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version
}
