import { useEffect } from 'react'
import { words } from '../words/en.ts'

/** The parts of the title of the tab. The object is what a page has open, such as a policy. */
const parts: { page: string | undefined; object: string | undefined } = { page: undefined, object: undefined }

function set(part: keyof typeof parts, name: string | undefined): void {
  parts[part] = name
  const names = [parts.object, parts.page, words.common.product]
  document.title = names.filter((each) => each !== undefined && each !== '').join(' · ')
}

function usePart(part: keyof typeof parts, name: string | undefined): void {
  useEffect(() => {
    set(part, name)
    return () => set(part, undefined)
  }, [part, name])
}

/** Names the page in the title of the tab, its history and its bookmarks. */
export const usePageTitle = (name: string | undefined): void => usePart('page', name)

/** Names the open object before the page. */
export const useObjectTitle = (name: string | undefined): void => usePart('object', name)
