/*
 * Singly linked lists of what has a link of its own: first in, first out. Nothing is owned or allocated; whoever has
 * the list guards it.
 */
#ifndef KITH_BASE_LIST_H
#define KITH_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Member of what is in a list; in one list at a time. */
struct link {
    struct link *next;
};

struct list {
    struct link *first;
    struct link *last;
};

static inline bool list_is_empty(const struct list *list)
{
    return list->first == NULL;
}

static inline void list_append(struct list *list, struct link *link)
{
    link->next = NULL;
    if (list->last != NULL)
        list->last->next = link;
    else
        list->first = link;
    list->last = link;
}

static inline void list_prepend(struct list *list, struct link *link)
{
    link->next = list->first;
    list->first = link;
    if (list->last == NULL)
        list->last = link;
}

/* Of a list that is not empty. */
static inline struct link *list_remove_first(struct list *list)
{
    struct link *link = list->first;
    list->first = link->next;
    if (list->first == NULL)
        list->last = NULL;
    return link;
}

#endif
