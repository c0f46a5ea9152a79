import * as generationFunctions from '../generation/functions.js'
import * as functions from '../media/functions.js'
import { generation, media } from '../src/lazy.js'

media.provide(functions)
generation.provide(generationFunctions)
