import type { ImageOptions, Input } from '../index.js'
import { readFile, readInput, withName } from './inputs.js'
import { isPicture, readPicture } from './picture-file.js'
import { isRecording, readRecording, type RecordingOptions } from './recording-file.js'

/** Files with arguments, in the order of the command line, and how pictures and recordings among them are prepared. */
export interface InputFiles {
  readonly files: readonly string[]
  readonly pictures: ImageOptions
  readonly recordings?: RecordingOptions
}

/** As readInputs, of pictures and recordings, too. */
export async function readArguments({ files, pictures, recordings = {} }: InputFiles): Promise<Input[]> {
  const args: Input[] = []
  for (const file of files) {
    const bytes = readFile(file)
    if (isPicture(bytes)) args.push(await withName(file, () => readPicture(bytes, pictures)))
    else if (isRecording(bytes)) args.push(withName(file, () => readRecording(bytes, recordings)))
    else args.push(...readInput(file, bytes))
  }
  return args
}
