import * as generationFunctions from '../generation/functions.js'
import * as functions from '../media/functions.js'
import * as speechFunctions from '../speech/functions.js'
import { generation, media, speech } from '../src/lazy.js'

media.provide(functions)
generation.provide(generationFunctions)
speech.provide(speechFunctions)
