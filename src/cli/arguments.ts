import type { ImageOptions, Input } from '../index.js'
import { readFile, readInput, withName } from './inputs.js'
import { isPicture, readPicture } from './picture-file.js'

/** Files with arguments, in the order of the command line, and how pictures among them are prepared. */
export interface InputFiles {
  readonly files: readonly string[]
  readonly pictures: ImageOptions
}

/** As readInputs, of pictures, too. */
export async function readArguments({ files, pictures }: InputFiles): Promise<Input[]> {
  const args: Input[] = []
  for (const file of files) {
    const bytes = readFile(file)
    if (isPicture(bytes)) args.push(await withName(file, () => readPicture(bytes, pictures)))
    else args.push(...readInput(file, bytes))
  }
  return args
}
