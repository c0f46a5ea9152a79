import { linkFunctions } from '../../program/link.js'
import type { Program } from '../../program/program.js'
import { trainingModes } from '../../program/training.js'
import { layersInTraining, type TrainingLayer } from '../../program/training-layers.js'

/** The modules of a program that are in training mode and go by it. */
export function trainingOf({ functions, operatorVersion, root, plainClasses }: Program): TrainingLayer[] {
  if (!trainingModes(root, plainClasses).includes('t')) return []
  return layersInTraining(linkFunctions(functions, operatorVersion, new Map(), true), root, plainClasses)
}
