import { damaged } from '../../program/file-error.js'
import { DType } from '../../runtime/tensor/dtype.js'
import type { Argument, Graph, GraphNode, NodeInput } from './graph.js'
import { operatorName } from './operators.js'
import { forEachName } from './scope.js'
import type { MetaOf } from './tensor-meta.js'

/** Operators that PyTorch carries out in the lower precision on CPUs (ATen/autocast_mode.cpp). */
const LOWER: ReadonlySet<string> = names(
  `_addmm_activation _convolution.deprecated _native_multi_head_attention addbmm addmm baddbmm bmm conv1d conv1d.padding conv2d conv2d.padding conv3d
   conv3d.padding conv_tbc conv_transpose1d conv_transpose2d.input conv_transpose3d.input linalg_vecdot linear matmul mkldnn_rnn_layer mm prelu
   scaled_dot_product_attention`,
)

/** Those whose tensors get the widest of their dtypes. */
const PROMOTED: ReadonlySet<string> = names('cat index_copy stack')

/** Those that it carries out in single precision. */
const SINGLE: ReadonlySet<string> = names(
  `_grid_sampler_2d_cpu_fallback _lu_with_info adaptive_avg_pool3d adaptive_max_pool3d avg_pool3d binary_cross_entropy binary_cross_entropy_with_logits cdist
   cholesky cholesky_inverse cholesky_solve cosine_embedding_loss cross_entropy_loss ctc_loss.IntList ctc_loss.Tensor fake_quantize_per_tensor_affine fft_fft
   fft_fft2 fft_fftn fft_hfft fft_ifft fft_ifft2 fft_ifftn fft_ihfft fft_irfft fft_irfft2 fft_irfftn fft_rfft fft_rfft2 fft_rfftn fractional_max_pool2d
   fractional_max_pool3d geqrf grid_sampler grid_sampler_2d grid_sampler_3d hinge_embedding_loss huber_loss inverse kl_div l1_loss linalg_cholesky
   linalg_cholesky_ex linalg_cond linalg_cond.p_str linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh linalg_householder_product linalg_inv
   linalg_inv_ex linalg_lstsq linalg_matrix_rank linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor linalg_matrix_rank.tol_tensor
   linalg_qr linalg_solve linalg_svd linalg_svdvals linalg_tensorinv linalg_tensorsolve lu_solve margin_ranking_loss max_pool3d max_unpool2d
   max_unpool3d mse_loss multi_margin_loss multilabel_margin_loss multilabel_margin_loss_forward nanquantile nanquantile.scalar nll_loss
   nll_loss2d orgqr ormqr pinverse poisson_nll_loss polar prod prod.dim_int qr quantile quantile.scalar reflection_pad1d reflection_pad2d
   replication_pad1d replication_pad2d replication_pad3d smooth_l1_loss soft_margin_loss stft stft.center svd trace triangular_solve
   triplet_margin_loss view_as_complex`,
)

function names(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).map((name) => `aten::${name}`))
}

/**
 * A graph as `torch.autocast('cpu', lower)` carries it out, with its casts written (ATen/autocast_mode.cpp): half, bfloat16 and float32 tensors are cast to what their operator
 * is carried out in; doubles are not. `metasOf` tells the dtypes, which the file has from such a run. Operators that call others, such as `einsum`, are cast where the file
 * says that their results are of the lower precision. Throws INVALID_FILE where the dtype of a tensor is missing.
 */
export function castGraph(graph: Graph, metasOf: (graph: Graph) => MetaOf, lower: number = DType.bfloat16): Graph {
  if (lower !== DType.float16 && lower !== DType.bfloat16) throw damaged('expected float16 or bfloat16 as the dtype of torch.autocast')
  const metas = metasOf(graph)
  const nodes: GraphNode[] = []
  const dtypeOf = (name: string): number => {
    const meta = metas(name)
    if (meta === undefined) throw damaged(`the file does not describe '${name}', which torch.autocast may cast`)
    return meta.scalarType
  }
  for (const node of graph.nodes) {
    const target = targetDtype(node, lower, dtypeOf)
    // a cast of a tensor serves all arguments of a node
    const casts = new Map<string, Argument>()
    const cast = (argument: Argument): Argument => {
      if (argument.kind === 'list') return { kind: 'list', items: argument.items.map(cast) }
      if (argument.kind === 'graph' && !isAutocast(node)) return { ...argument, graph: castGraph(argument.graph, metasOf, lower) }
      if (argument.kind !== 'tensor') return argument
      const dtype = dtypeOf(argument.name)
      if (target === undefined || !isCast(dtype) || dtype === target) return argument
      // no name of a file begins so
      const result = casts.get(argument.name) ?? ({ kind: 'tensor', name: `%${nodes.length}:${argument.name}` } as const)
      if (!casts.has(argument.name)) {
        casts.set(argument.name, result)
        nodes.push(castNode(node, argument, target, result))
      }
      return result
    }
    const inputs = node.inputs.map(({ name, argument }) => ({ name, argument: cast(argument) }))
    nodes.push({ ...node, inputs })
  }
  return { ...graph, nodes }
}

/** Regions in others have a dtype of their own, or none. */
function isAutocast({ target }: GraphNode): boolean {
  return target === 'torch.ops.higher_order.wrap_with_autocast'
}

function isCast(dtype: number): boolean {
  return dtype === DType.float16 || dtype === DType.float32 || dtype === DType.bfloat16
}

/** What the floating tensors of an operator are cast to; undefined for nothing. */
function targetDtype(node: GraphNode, lower: number, dtypeOf: (name: string) => number): number | undefined {
  const name = operatorName(node.target)
  if (name === undefined) return undefined
  if (LOWER.has(name)) return lower
  if (SINGLE.has(name)) return DType.float32
  const dtypes = dtypesIn(
    node.inputs.map(({ argument }) => argument),
    dtypeOf,
  )
  if (PROMOTED.has(name)) return dtypes.includes(DType.float32) ? DType.float32 : undefined
  // what it calls has cast them
  const floats = dtypes.filter(isCast)
  const results = dtypesIn(node.outputs, dtypeOf)
  return floats.length > 0 && floats.every((dtype) => dtype === DType.float32) && results.includes(lower) ? lower : undefined
}

function dtypesIn(values: readonly Argument[], dtypeOf: (name: string) => number): number[] {
  const dtypes: number[] = []
  for (const value of values)
    forEachName(value, (name, { kind }) => {
      if (kind === 'tensor') dtypes.push(dtypeOf(name))
    })
  return dtypes
}

function castNode(node: GraphNode, argument: Argument, dtype: number, result: Argument): GraphNode {
  const inputs: NodeInput[] = [
    { name: 'self', argument },
    { name: 'dtype', argument: { kind: 'enum', type: 'ScalarType', value: dtype } },
  ]
  return { ...node, target: 'torch.ops.aten.to.dtype', inputs, outputs: [result] }
}
