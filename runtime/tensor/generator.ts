import { CustomObject } from './value.js'

/** A random number generator of a program (torch.Generator). Its state is an int64 tensor: that of the engine, then the seed. */
export class RandomGenerator extends CustomObject {
  constructor() {
    super('Generator', null)
  }
}
