/** What the chunk of media gives. */
export { melSpectrogram } from './audio/mel-spectrogram.js'
export { resampleAudio } from './audio/resample.js'
export { readWav } from './audio/wav.js'
export { writeWav } from './audio/write-wav.js'
export { tensorToImage } from './images/from-tensor.js'
export { imageToTensor } from './images/to-tensor.js'
