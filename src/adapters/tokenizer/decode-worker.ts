import { parentPort } from 'node:worker_threads'
import { decodeAll } from './decode.ts'

parentPort?.on('message', (lists: readonly (readonly number[])[]) => parentPort?.postMessage(decodeAll(lists)))
