/** The request of Google's Generative Language API (`v1beta`): only the fields that the gateway sends. */
export type GeminiRequest = {
  readonly contents: readonly GeminiContent[]
  readonly systemInstruction?: { readonly parts: readonly GeminiPart[] }
  readonly tools?: readonly { readonly functionDeclarations: readonly GeminiFunction[] }[]
  readonly toolConfig?: { readonly functionCallingConfig: FunctionCallingConfig }
  readonly generationConfig?: GenerationConfig
}

export type GeminiContent = { readonly role: 'user' | 'model'; readonly parts: readonly GeminiPart[] }

export type GeminiPart = {
  readonly text?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly fileData?: { readonly mimeType?: string; readonly fileUri: string }
  readonly functionCall?: { readonly id: string; readonly name: string; readonly args: Json }
  readonly functionResponse?: { readonly id: string; readonly name: string; readonly response: Json }
  readonly thoughtSignature?: string
}

export type GeminiFunction = {
  readonly name: string
  readonly description?: string
  readonly parametersJsonSchema?: Json
}

export type FunctionCallingConfig = {
  readonly mode: 'AUTO' | 'ANY' | 'NONE'
  readonly allowedFunctionNames?: readonly string[]
}

export type GenerationConfig = {
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly stopSequences?: readonly string[]
  readonly responseMimeType?: string
  readonly responseJsonSchema?: Json
  readonly thinkingConfig?: ThinkingConfig
}

export type ThinkingConfig = {
  readonly includeThoughts?: boolean
  readonly thinkingBudget?: number
  readonly thinkingLevel?: 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'
}

type Json = Readonly<Record<string, unknown>>
