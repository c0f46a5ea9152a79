// The licences of what a kernel library has code of, beside its own and g++'s libraries, whose exception asks for nothing.
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from '../targets.mjs'

/** The text for packages of Debian, and for files with a licence, that headers or objects came from; empty where there are none. */
export function licensesOf(sources) {
  const texts = sources.map((name) => {
    const isFile = name.includes('/')
    const path = isFile ? join(root, name) : `/usr/share/doc/${name}/copyright`
    if (!existsSync(path)) throw new Error(`${path} is missing: it has the licence of code in the kernel library; ${isFile ? 'build that first' : `install ${name}`}`) // prettier-ignore
    return `${isFile ? basename(dirname(name)) : `${name}, as Debian describes it`}\n\n${readFileSync(path, 'utf8').trim()}\n`
  })
  if (texts.length === 0) return ''
  return `Code of these packages is part of the library beside this file.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`
}
