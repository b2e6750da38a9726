import type * as onnxruntime from 'onnxruntime-node'

export const description: URL
export const model: URL
export const vocabulary: URL
export function loadRuntime(): Promise<typeof onnxruntime>
