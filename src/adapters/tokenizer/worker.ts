import { parentPort } from 'node:worker_threads'
import { countAll } from './count.ts'

parentPort?.on('message', (texts: readonly string[]) => parentPort?.postMessage(countAll(texts)))
