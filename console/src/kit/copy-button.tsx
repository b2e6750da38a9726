import { useEffect, useState } from 'react'
import { words } from '../words/en.ts'
import { IconButton } from './button.tsx'

const shownMs = 1_500

/** Copies a text to the clipboard. */
export function CopyButton({ text, label = words.common.copy }: { readonly text: string; readonly label?: string }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return undefined
    const timer = setTimeout(() => setCopied(false), shownMs)
    return () => clearTimeout(timer)
  }, [isCopied])
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setCopied(true))
  return (
    <IconButton
      isSmall
      icon={isCopied ? 'check' : 'copy'}
      label={isCopied ? words.common.copied : label}
      onClick={(event) => {
        event.stopPropagation()
        copy()
      }}
    />
  )
}
