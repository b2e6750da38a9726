import Type, { type TNumberOptions, type TSchemaOptions, type TStringOptions } from 'typebox'

/** Fields with a description, because every field of the API has one. */
export const text = (description: string, options: TStringOptions = {}) => Type.String({ description, ...options })
export const integer = (description: string, options: TNumberOptions = {}) => Type.Integer({ description, ...options })
export const number = (description: string, options: TNumberOptions = {}) => Type.Number({ description, ...options })
export const flag = (description: string, options: TSchemaOptions = {}) => Type.Boolean({ description, ...options })
export const texts = (description: string) => Type.Array(Type.String(), { description })
