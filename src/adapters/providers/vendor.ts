import type { ReadModels } from './model-list.ts'
import type { ChatOverrides, ChatServer } from './openai-chat/servers.ts'
import type { WireFormat } from './wire-format.ts'

/** Everything about a kind of upstream that is reached over HTTP: its address, its credentials and its format. */
export type HttpVendor = {
  /** OpenTelemetry's name of the vendor, for traces. Undefined if servers of many vendors have this format. */
  readonly systemName: string | undefined
  /** The vendor's own address, in the form that the vendor's SDK expects. */
  readonly baseUrl: string
  readonly path: string
  /** The path of the endpoint that creates embeddings. Left out by a vendor that has none. */
  readonly embeddingsPath?: string
  /** The path of the model list. It may have a query. */
  readonly modelsPath: string
  readonly readModels: ReadModels
  readonly auth: (apiKey: string) => Readonly<Record<string, string>>
  /** The format of the server at this URL. */
  readonly formatAt: (url: URL, settings: FormatSettings) => WireFormat
}

/** The settings of an upstream that change its format. */
export type FormatSettings = {
  /** The software of a chat completions server. */
  readonly server?: ChatServer | undefined
  readonly chatOverrides?: ChatOverrides
}

export const bearer: HttpVendor['auth'] = (apiKey) => ({ authorization: `Bearer ${apiKey}` })
