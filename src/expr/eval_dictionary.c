#include "expr/eval_node.h"

/* The only operand that is not constant, if it is dictionary-encoded. */
static struct datum *dictionary_operand(struct eval_node *node)
{
    struct datum *found = NULL;
    for (size_t i = 0; i < node->child_count; i++) {
        if (node->operands[i].constant)
            continue;
        if (found != NULL || node->operands[i].array->dictionary == NULL)
            return NULL;
        found = &node->operands[i];
    }
    return found;
}

/* Computes the node for each value of the dictionary and remembers it. An error may come from a value that no selected
 * row has, so it only means that the rows must be looked at themselves. */
static kith_error *compute_dictionary(struct eval_node *node, struct datum *operand, bool *done)
{
    struct array *encoded = operand->array;
    struct array *result = NULL;
    *done = node->dictionary == encoded->dictionary;
    if (*done)
        return NULL;
    operand->array = encoded->dictionary;
    kith_error *error = eval_operation(node, encoded->dictionary->length, NULL, &result);
    operand->array = encoded;
    if (error != NULL) {
        if (kith_error_code(error) == KITH_ERROR_OUT_OF_MEMORY)
            return error;
        error_free(error);
        return NULL;
    }
    if (node->dictionary != NULL)
        array_unref(node->dictionary);
    if (node->dictionary_result != NULL)
        array_unref(node->dictionary_result);
    node->dictionary = array_ref(encoded->dictionary);
    node->dictionary_result = result;
    *done = true;
    return NULL;
}

static kith_error *pick_booleans(const struct array *encoded, const struct array *values, size_t rows,
                                 const struct selection *selection, struct array **out)
{
    _cleanup_(array_unref) struct array *result = NULL;
    const struct data_type boolean = type_of(TYPE_BOOL);
    TRY(kernel_new_result(&boolean, rows, &result));
    bool nullable = encoded->validity != NULL || values->validity != NULL;
    if (nullable)
        TRY(kernel_own_validity(result));
    for (size_t k = 0; k < selected_count(selection, rows); k++) {
        size_t row = selected_row(selection, k);
        if (array_is_null_itself(encoded, row)) {
            bitmap_clear(result->validity->data, row);
            continue;
        }
        size_t index = array_dictionary_index(encoded, row);
        if (array_is_null(values, index))
            bitmap_clear(result->validity->data, row);
        else if (bitmap_get(values->values->data, values->offset + index))
            bitmap_set(result->values->data, row);
    }
    *out = TAKE(result);
    return NULL;
}

/* The same indices into the results, decoded. */
static kith_error *pick(const struct array *encoded, struct array *values, struct array **out)
{
    _cleanup_(array_unref) struct array *indices = NULL;
    _cleanup_(array_unref) struct array *picked = NULL;
    struct data_type index_type = type_of(encoded->type.index);
    TRY(array_new(&index_type, encoded->length, &indices));
    indices->offset = encoded->offset;
    indices->null_count = -1;
    indices->values = buffer_ref(encoded->values);
    indices->validity = buffer_ref(encoded->validity);
    TRY(array_new_dictionary(indices, values, &picked));
    return array_decode_dictionary(picked, out);
}

kith_error *eval_by_dictionary(struct eval_node *node, size_t rows, const struct selection *selection,
                               struct array **out)
{
    struct datum *operand = dictionary_operand(node);
    if (operand == NULL)
        return NULL;
    struct array *encoded = operand->array;
    /* A dictionary serves many batches, so its values may be worth more than the rows of this one; and without it all
     * rows would be decoded, selected or not. */
    size_t worthwhile = MAX(4 * selected_count(selection, rows), 2 * rows);
    if (node->dictionary != encoded->dictionary && encoded->dictionary->length > worthwhile)
        return NULL;
    bool done;
    TRY(compute_dictionary(node, operand, &done));
    if (!done)
        return NULL;
    if (node->expr->type.id == TYPE_BOOL)
        return pick_booleans(encoded, node->dictionary_result, rows, selection, out);
    return pick(encoded, node->dictionary_result, out);
}
