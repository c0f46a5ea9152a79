import { startRecording, stopRecording } from '../selective-build/trace/recorder.js'
import { traceToYaml } from '../selective-build/trace/to-yaml.js'

/**
 * Notes, from here to stopTracing(), which operators, kernels, dtypes, instructions and loaders are in use, of all models in this thread:
 * what a selective build has to hold. Models that are loaded already count from their next call. Throws INVALID_ARGUMENT where tracing
 * is on already.
 */
export function startTracing(): void {
  startRecording()
}

/** Ends tracing and returns the trace: YAML in the form of PyTorch's selected_operators.yaml, which `selective-build --trace` takes. */
export function stopTracing(): string {
  return traceToYaml(stopRecording())
}
