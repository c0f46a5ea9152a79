import { type ImageOptions, imageToTensor, type Input, type Pixels } from '../index.js'
import { readFile, readInput, withName } from './inputs.js'
import { isPicture, readPicture } from './picture-file.js'
import { isRecording, readRecording, type RecordingOptions } from './recording-file.js'

/** Files with arguments, in the order of the command line, and how pictures and recordings among them are prepared. */
export interface InputFiles {
  readonly files: readonly string[]
  readonly pictures: ImageOptions
  /** Whether all pictures are one argument, where the first of them is. */
  readonly isBatch?: boolean
  readonly recordings?: RecordingOptions
}

/** As readInputs, of pictures and recordings, too. */
export async function readArguments({ files, pictures, isBatch = false, recordings = {} }: InputFiles): Promise<Input[]> {
  const args: Input[] = []
  const batch: Pixels[] = []
  let place = 0
  for (const file of files) {
    const bytes = readFile(file)
    if (isPicture(bytes)) {
      const pixels = await withName(file, () => readPicture(bytes))
      if (!isBatch) args.push(withName(file, () => imageToTensor(pixels, pictures)))
      else if (batch.push(pixels) === 1) place = args.length
    } else if (isRecording(bytes)) args.push(withName(file, () => readRecording(bytes, recordings)))
    else args.push(...readInput(file, bytes))
  }
  if (batch.length > 0) args.splice(place, 0, imageToTensor(batch, pictures))
  return args
}
