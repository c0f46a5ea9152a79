import type { Argument } from './graph.js'
import { damaged, guarded, unsupported } from '../../program/file-error.js'
import type { Json } from '../exported/json.js'
import { listOf, objectOf, textOf, variantOf } from '../exported/json-values.js'
import { readArgument } from './read-graph.js'

/** What an input of the graph is. */
export type InputSpec =
  | { readonly kind: 'user'; readonly argument: Argument }
  /** A user's argument that was a constant when the program was exported. */
  | { readonly kind: 'constant'; readonly name: string; readonly value: Argument }
  /** A parameter, buffer or constant by its name in the module. */
  | { readonly kind: 'state'; readonly name: string; readonly target: string }
  | { readonly kind: 'token'; readonly name: string }

/** What an output of the graph is. */
export type OutputSpec =
  | { readonly kind: 'user' }
  /** A new value of a parameter or buffer, or of an input, by its name. */
  | { readonly kind: 'state'; readonly target: string }
  | { readonly kind: 'input'; readonly name: string }
  | { readonly kind: 'token' }

export interface GraphSignature {
  readonly inputs: readonly InputSpec[]
  readonly outputs: readonly OutputSpec[]
}

export function readSignature(json: Json | undefined): GraphSignature {
  const fields = objectOf(json, 'the signature')
  return {
    inputs: listOf(fields.get('input_specs')).map((item, i) => guarded(`input ${i}`, () => readInput(item))),
    outputs: listOf(fields.get('output_specs')).map((item, i) => guarded(`output ${i}`, () => readOutput(item))),
  }
}

const nameOf = (value: Json | undefined): string => textOf(objectOf(value).get('name'), 'a name')

function readInput(json: Json): InputSpec {
  const [kind, value] = variantOf(json, 'an input')
  const fields = objectOf(value)
  const state = (field: string): InputSpec => ({ kind: 'state', name: nameOf(fields.get('arg')), target: textOf(fields.get(field)) })
  switch (kind) {
    case 'user_input':
      return { kind: 'user', argument: readArgument(fields.get('arg'), 0) }
    case 'parameter':
      return state('parameter_name')
    case 'buffer':
      return state('buffer_name')
    case 'tensor_constant':
      return state('tensor_constant_name')
    case 'constant_input':
      return { kind: 'constant', name: textOf(fields.get('name')), value: readArgument(fields.get('value'), 0) }
    case 'token':
      return { kind: 'token', name: nameOf(fields.get('arg')) }
    case 'custom_obj': {
      const className = String(objectOf(fields.get('arg')).get('class_fqn'))
      throw unsupported(
        `'${textOf(fields.get('custom_obj_name'))}' is an object of the C++ class ${className}, which this runtime has not got; export the program without it`,
      )
    }
    default:
      throw unsupported(`an input of the kind '${kind.slice(0, 60)}' is newer than this runtime; export with PyTorch 2.14 or older`)
  }
}

function readOutput(json: Json): OutputSpec {
  const [kind, value] = variantOf(json, 'an output')
  const fields = objectOf(value)
  switch (kind) {
    case 'user_output':
      return { kind: 'user' }
    case 'buffer_mutation':
      return { kind: 'state', target: textOf(fields.get('buffer_name')) }
    case 'parameter_mutation':
      return { kind: 'state', target: textOf(fields.get('parameter_name')) }
    case 'user_input_mutation':
      return { kind: 'input', name: textOf(fields.get('user_input_name')) }
    case 'token':
      return { kind: 'token' }
    case 'loss_output':
    case 'gradient_to_parameter':
    case 'gradient_to_user_input':
      throw unsupported('the program computes gradients; export the network for inference')
    default:
      throw damaged(`an output of the unknown kind '${kind.slice(0, 60)}'`)
  }
}
