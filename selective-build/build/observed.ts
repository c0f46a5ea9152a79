import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Marks } from '../trim/marks.js'
import { type Observation, Observer } from '../trim/observe.js'
import type { Target } from './target.js'

/**
 * Loads and runs models in the runtime that stands in a folder, with the kernels of `library`, and tells the observer when all of them are loaded, and when they
 * ran.
 */
export type Exercise = (folder: string, observer: Observer, library: string, target: Target) => Promise<void>

/** What models enter of a marked bundle. */
export async function observe(root: string, marked: string, library: string, exercise: Exercise, target: Target): Promise<Observation> {
  mkdirSync(join(root, 'build'), { recursive: true })
  const folder = mkdtempSync(join(root, 'build/selective-observe-'))
  try {
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
    writeFileSync(join(folder, 'index.js'), marked)
    const copy = join(folder, target.library)
    copyFileSync(library, copy)
    const observer = new Observer((await import(pathToFileURL(join(folder, 'index.js')).href)) as Marks)
    await exercise(folder, observer, target.libraryAt(copy), target)
    return observer.seen
  } finally {
    rmSync(folder, { recursive: true })
  }
}
