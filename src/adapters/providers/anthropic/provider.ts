import type { Family } from '../http-provider.ts'
import { createDecoder } from './events.ts'
import { encodeRequest } from './request.ts'

/** Upstreams that speak the Messages format: Anthropic itself, and open servers that imitate it. */
export const anthropicFamily: Family = { dialect: 'messages', encode: encodeRequest, createDecoder }
