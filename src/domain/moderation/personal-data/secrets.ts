/** API keys and tokens, told by the prefixes their makers gave them. */
import { endOfMatch } from './look-behind.ts'

const shapes = [
  'sk-[A-Za-z0-9_-]{20,200}', // OpenAI, Anthropic and those who copied them
  '[spr]k_(?:live|test)_[A-Za-z0-9]{16,200}', // Stripe
  'gh[oprsu]_[A-Za-z0-9]{36,255}',
  'github_pat_[A-Za-z0-9_]{22,255}',
  'glpat-[A-Za-z0-9_-]{20,64}',
  '(?:AKIA|ASIA)[A-Z0-9]{16}',
  'xox[abeoprs]-[A-Za-z0-9-]{10,250}',
  'AIza[A-Za-z0-9_-]{35}',
  'ya29\\.[A-Za-z0-9_-]{20,500}',
  'npm_[A-Za-z0-9]{36}',
  'pypi-[A-Za-z0-9_-]{50,250}',
  'hf_[A-Za-z0-9]{30,64}',
  'SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}',
  'dop_v1_[a-f0-9]{64}',
  'shpat_[a-fA-F0-9]{32}',
  '(?:ak|adm)_[A-Za-z0-9]{38}', // our own
  'eyJ[A-Za-z0-9_-]{10,1000}\\.eyJ[A-Za-z0-9_-]{10,1000}(?:\\.[A-Za-z0-9_-]{1,1000})?', // JSON web tokens
]
const token = new RegExp(`(?:${shapes.join('|')})(?![A-Za-z0-9_])`, 'y')

/** The longest token there is. */
export const longestSecret = 3_100

/** End of the token that begins here, or -1. */
export const findToken = (text: string, start: number): number => endOfMatch(token, text, start)

const privateKey =
  /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,8192}(?:-----END [A-Z ]{0,20}PRIVATE KEY-----)?/y

/** Longest stretch that a private key may take. */
export const longestPrivateKey = 8_300

/** End of the private key block that begins here, or -1. One that is cut off counts as far as it goes. */
export const findPrivateKey = (text: string, start: number): number => endOfMatch(privateKey, text, start)

/** What a private key may look like while its end has not arrived yet. */
export const unfinishedPrivateKey =
  /-(?:-{0,4}|-{4}[A-Z ]{1,40}-{0,5}|-{4}BEGIN [A-Z ]{0,20}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,8192}(?:-{1,5}|-----[A-Z ]{1,40}-{0,5})?)$/
