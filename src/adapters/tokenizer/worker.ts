import { parentPort } from 'node:worker_threads'
import { countAll } from './count.ts'

parentPort?.on('message', ({ id, texts }: { id: number; texts: readonly string[] }) => {
  parentPort?.postMessage({ id, count: countAll(texts) })
})
