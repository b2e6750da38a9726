/** What the model is: its version, the digest of its file, its window sizes, and how its logits become scores. */
export const description = new URL('encoder.json', import.meta.url)
export const model = new URL('model.onnx', import.meta.url)
/** One word piece per line; the number of the line is its id. */
export const vocabulary = new URL('vocabulary.txt', import.meta.url)

/** Loads the run time. Rejects where it is not installed, or has no build for this platform. */
export const loadRuntime = async () => (await import('onnxruntime-node')).default
