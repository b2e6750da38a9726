/** What the model is: its version, the digest of its file, its window sizes, and how its logits become scores. */
export const description = new URL('encoder.json', import.meta.url)
export const model = new URL('model.onnx', import.meta.url)
/** One word piece per line; the number of the line is its id. */
export const vocabulary = new URL('vocabulary.txt', import.meta.url)

/**
 * Loads the run time. Rejects where it is not installed, or has no build for this platform. The native library reads the variable
 * when it is loaded; without it, it would collect usage data and send it to its maker. A worker thread needs `env: SHARE_ENV`,
 * because otherwise its variables are a copy that native code does not see.
 */
export async function loadRuntime() {
  process.env.ORT_DISABLE_TELEMETRY = '1'
  return (await import('onnxruntime-node')).default
}
